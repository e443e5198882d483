import { readFileSync } from 'node:fs';

/** The part that is used; only the types of browsers declare the global. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

/**
 * Compiles a module of core/lib/wasm.
 * @returns what creates an instance, which has its own memory
 */
export function compileModule<Exports>(file: URL): () => Exports {
  const module = new WebAssembly.Module(readFileSync(file));
  return () => new WebAssembly.Instance(module).exports as Exports;
}
