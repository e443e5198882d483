import { readdir, readFile } from 'node:fs/promises';
import { PAGE_HEADERS } from './page-headers.js';

/** A page that a plugin ships, and the files that its script and style are bundled into. */
interface PageOptions {
  /** Of the surface: `/docs`. */
  readonly prefix: string;
  readonly title: string;
  /** The folder of the bundled files. */
  readonly folder: URL;
}

interface PageFiles {
  /** The page as HTML: the same for every path of the surface. */
  createPage(): Response;
  /** A bundled file by its path, such as `/docs/assets/main-1234.js`; `null` for any other path. */
  findFile(path: string): Response | null;
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** Reads the bundled files of a page, whose names change with their content. */
export async function readPageFiles({ prefix, title, folder }: PageOptions): Promise<PageFiles> {
  const files = new Map<
    string,
    { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }
  >();
  for (const name of (await readdir(folder)).sort()) {
    const type = TYPES[name.replace(/^.*\./, '')];
    if (type === undefined) continue;
    const bytes = new Uint8Array(await readFile(new URL(name, folder)));
    files.set(`${prefix}/assets/${name}`, { type, bytes });
  }
  const html = new TextEncoder().encode(createHtml(title, [...files.keys()]));
  return {
    createPage: () =>
      new Response(html, {
        headers: {
          ...PAGE_HEADERS,
          'content-length': String(html.length),
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-cache',
        },
      }),
    findFile: (path) => {
      const file = files.get(path);
      if (file === undefined) return null;
      return new Response(file.bytes, {
        headers: {
          ...PAGE_HEADERS,
          'content-length': String(file.bytes.length),
          'content-type': file.type,
          'cache-control': 'max-age=31536000, immutable',
        },
      });
    },
  };
}

function createHtml(title: string, paths: readonly string[]): string {
  const styles = paths.filter((path) => path.endsWith('.css'));
  // Other scripts are loaded by the first one.
  const scripts = paths.filter((path) => /\/main-[^/]*\.js$/.test(path));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
${styles.map((path) => `<link rel="stylesheet" href="${path}">\n`).join('')}</head>
<body>
<main></main>
<noscript>This page needs JavaScript.</noscript>
${scripts.map((path) => `<script type="module" src="${path}"></script>\n`).join('')}</body>
</html>
`;
}
