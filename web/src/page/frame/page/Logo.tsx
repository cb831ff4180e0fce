/** A tab with the hub of a helm in it. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="24" height="24" fill="none" aria-hidden="true">
      <g stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M4 26h24M7 26V10a3 3 0 0 1 3-3h12a3 3 0 0 1 3 3v16" />
      </g>
      <circle cx="16" cy="17" r="3.5" fill="currentColor" />
    </svg>
  );
}
