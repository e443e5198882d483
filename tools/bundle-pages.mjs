// Bundles the pages that plugins ship for browsers: plugins/NAME/page/main.ts or main.tsx becomes
// web/assets/main-HASH.js and main-HASH.css in the plugin's folder of dist, without a source map, and
// page/index.html becomes web/index.html. A page of which no source has changed since the last build
// is kept.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @returns whether all pages have no errors. */
export async function bundlePages(outDir, tsc) {
  const checked = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.pages.json'], {
    stdio: 'inherit',
  });
  const changed = listPages().filter((page) => !isCurrent(outDir, page));
  if (changed.length === 0) return checked.status === 0;
  // The version in WebAssembly runs no script when it is installed.
  const { build, stop } = await import('esbuild-wasm');
  for (const page of changed) {
    const { name, main } = page;
    const folder = join(outDir, 'plugins', name, 'web');
    rmSync(folder, { recursive: true, force: true });
    const { metafile } = await build({
      entryPoints: [main],
      outdir: join(folder, 'assets'),
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      legalComments: 'none',
      logLevel: 'warning',
      metafile: true,
    });
    finishFolder(folder, join(dirname(main), 'index.html'));
    const sources = [...Object.keys(metafile.inputs), join(dirname(main), 'index.html')];
    writeFileSync(stampFile(outDir, page), JSON.stringify(digestFiles(sources)));
  }
  await stop();
  return checked.status === 0;
}

/** @returns whether every file that the last bundle was made of has the content that it had then. */
function isCurrent(outDir, page) {
  const file = stampFile(outDir, page);
  if (!existsSync(file)) return false;
  const digests = JSON.parse(readFileSync(file, 'utf8'));
  const sources = Object.keys(digests).filter((source) => existsSync(source));
  return JSON.stringify(digestFiles(sources)) === JSON.stringify(digests);
}

function stampFile(outDir, { name }) {
  return join(outDir, `.page-${name}`);
}

function digestFiles(files) {
  return Object.fromEntries(
    files.map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]),
  );
}

function listPages() {
  return readdirSync('plugins').flatMap((name) =>
    ['main.ts', 'main.tsx']
      .map((file) => join('plugins', name, 'page', file))
      .filter((main) => existsSync(main))
      .map((main) => ({ name, main })),
  );
}

/** Writes index.html with the names of the bundled files. */
function finishFolder(folder, html) {
  const names = readdirSync(join(folder, 'assets'));
  const find = (type) => names.find((name) => name.startsWith('main-') && name.endsWith(type));
  const text = readFileSync(html, 'utf8')
    .replace('{main.js}', find('.js'))
    .replace('{main.css}', find('.css'));
  writeFileSync(join(folder, 'index.html'), text);
}
