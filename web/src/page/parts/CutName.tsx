import { END } from './cut-name';

/** Names shorter than this are not cut: where there is no room for them, there is none for a cut either. */
const SHORT = 16;

/** A name that is cut in the middle where there is too little room for it. It fills its parent. */
export function Cut({ text }: { readonly text: string }) {
  if (text.length < SHORT) return <>{text}</>;
  return (
    <span class="cut">
      <span class="cut-start">{text.slice(0, -END)}</span>
      <span>{text.slice(-END)}</span>
    </span>
  );
}
