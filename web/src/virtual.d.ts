declare module '*.css';
declare module 'virtual:wasm_exec';
declare module '*?worker&url' {
  /** The address of the worker's script in this build. */
  const url: string;
  export default url;
}
