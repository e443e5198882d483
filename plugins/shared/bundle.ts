import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export interface BundledFile {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Compresses the bytes at the first call: a few milliseconds. */
  readonly gzip: () => Uint8Array<ArrayBuffer>;
}

/** The built pages of a surface. */
export interface Bundle {
  readonly index: BundledFile;
  readonly assets: ReadonlyMap<string, BundledFile>;
  /** The digest over all files, `sha256:` and hex: the UI artifact digest at the console bridge. */
  readonly digest: string;
}

const INDEX = 'index.html';
const NAME = /^[A-Za-z0-9._-]{1,128}$/;
const MAX_FILES = 600;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/**
 * Reads `web/`, which the build creates, once: a shipped plugin does not change while the host
 * runs.
 *
 * @param plugin URL of a file in the folder of the plugin: `import.meta.url`
 * @returns `null` if the pages are not built
 */
export function readBundle(plugin: string): Bundle | null {
  const folder = fileURLToPath(new URL('web', plugin));
  if (!existsSync(join(folder, INDEX))) return null;
  const index = readFile(join(folder, INDEX));
  const assetsFolder = join(folder, 'assets');
  const names = readdirSync(assetsFolder);
  if (names.length > MAX_FILES) throw new Error(`the pages have more than ${MAX_FILES} files`);
  const assets = new Map<string, BundledFile>();
  for (const name of names.filter((name) => NAME.test(name)).toSorted()) {
    assets.set(name, readFile(join(assetsFolder, name)));
  }
  return { index, assets, digest: digestOf(index, assets) };
}

function readFile(path: string): BundledFile {
  const bytes = new Uint8Array(readFileSync(path));
  let compressed: Uint8Array<ArrayBuffer> | null = null;
  return {
    contentType: TYPES[extname(path)] ?? 'application/octet-stream',
    bytes,
    gzip: () => (compressed ??= new Uint8Array(gzipSync(bytes, { level: 9 }))),
  };
}

function digestOf(index: BundledFile, assets: ReadonlyMap<string, BundledFile>): string {
  const hash = createHash('sha256');
  for (const [name, { bytes }] of [[INDEX, index] as const, ...assets]) {
    hash.update(`${name} ${bytes.length}\n`).update(bytes);
  }
  return `sha256:${hash.digest('hex')}`;
}
