/** What `begin` begins is begun by the first call; the others do nothing. */
export function once(begin: () => void): () => void {
  let begun = false;
  return () => {
    if (begun) return;
    begun = true;
    begin();
  };
}
