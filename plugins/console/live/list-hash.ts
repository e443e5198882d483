/** The compared parts of a module. */
interface ListedModule {
  readonly file: string;
  readonly name: string | null;
  readonly state: string;
  readonly since: string;
  readonly reason: string | null;
  readonly configDigest: string | null;
}

/**
 * Returns the same hash for the same modules and ignored files in any order. A page and its host
 * compare lists by it.
 */
export function hashList(
  modules: readonly ListedModule[],
  ignored: readonly { readonly file: string; readonly reason: string }[],
): number {
  let sum = modules.length;
  for (const { file, reason } of ignored) sum = (sum + hashText(`${file}\n${reason}`)) >>> 0;
  for (const { file, name, state, since, reason, configDigest } of modules) {
    sum = (sum + hashText([file, name, state, since, reason, configDigest].join('\n'))) >>> 0;
  }
  return sum;
}

/** FNV-1a, 32 bits. */
function hashText(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
