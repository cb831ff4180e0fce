declare module '*.css';
declare module 'virtual:wasm_exec';
