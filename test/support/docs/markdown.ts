import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A link of a page. */
interface Link {
  /** Relative to the root of the repository; the page itself for `#anchor` alone. */
  readonly path: string;
  /** The fragment without `#`; empty if there is none. */
  readonly anchor: string;
  /** The original text, for messages. */
  readonly text: string;
}

const ROOT_PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

/** The pages of the repository, relative to its root. */
export function listPages(): string[] {
  const pages = ['docs', 'modules.d', 'plugins'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return [...ROOT_PAGES.filter((page) => existsSync(page)), ...pages.sort()];
}

/** The relative links of a page; a target with a scheme is not one. */
export function readLinks(page: string): Link[] {
  const text = withoutCode(readFileSync(page, 'utf8'));
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
    .map((target) => {
      const [path = '', anchor = ''] = target.split('#');
      const resolved = path === '' ? page : normalize(join(dirname(page), decodeURI(path)));
      return { path: resolved, anchor, text: target };
    });
}

/** The anchors that GitHub creates for the headings of a page. */
export function readAnchors(page: string): Set<string> {
  const text = withoutFences(readFileSync(page, 'utf8'));
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = createSlug(heading);
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Lines of prose, with their numbers: no tables, no code. */
export function readProse(page: string): { readonly line: number; readonly text: string }[] {
  return withoutFences(readFileSync(page, 'utf8'))
    .split('\n')
    .map((text, index) => ({ line: index + 1, text }))
    .filter(({ text }) => !/^(?:\||<!--| {4})/.test(text));
}

function createSlug(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

/** Keeps line breaks, so that line numbers do not change. */
function withoutFences(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```/gm, (block) => block.replace(/[^\n]/g, ''));
}

function withoutCode(text: string): string {
  return withoutFences(text).replace(/`[^`\n]*`/g, '``');
}
