import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { listPages, readAnchors, readLinks, readProse } from '../support/docs/markdown.js';
import { copyPacked } from '../support/docs/package-folder.js';
import { createFolder } from '../support/temporary-folder.js';

const MAX_COLUMNS = 100;

const pages = listPages();

describe('the pages of the repository', () => {
  for (const page of pages) {
    it(`have links that resolve: ${page}`, () => {
      for (const { path, anchor, text } of readLinks(page)) {
        expect(existsSync(path), `${text} in ${page}`).to.equal(true);
        if (anchor === '') continue;
        expect(readAnchors(path), `${text} in ${page}`).to.include(anchor);
      }
    });
  }

  for (const page of pages) {
    it(`wrap at ${MAX_COLUMNS} columns: ${page}`, () => {
      const long = readProse(page).filter(({ text }) => text.length > MAX_COLUMNS && canWrap(text));
      expect(long).to.deep.equal([]);
    });
  }

  it('are all in the index of docs', () => {
    const listed = new Set(readLinks('docs/README.md').map(({ path }) => path));
    const guides = pages.filter((page) => /^docs\/(?!README|bench\/)/.test(page));
    expect(guides.filter((page) => !listed.has(page))).to.deep.equal([]);
  });
});

describe('the pages of the package', () => {
  const files = new Set(listPackedFiles());
  const folders = new Set([...files].flatMap(listParents));
  const packed = pages.filter((page) => files.has(page));

  it('are those of docs, and the ones beside them', () => {
    const expected = pages.filter((page) => !page.startsWith('plugins/'));
    expect(packed).to.deep.equal(expected);
  });

  for (const page of packed) {
    it(`have links that resolve: ${page}`, () => {
      for (const { path, text } of readLinks(page)) {
        const isThere = files.has(path) || folders.has(path);
        expect(isThere, `${text} in ${page}`).to.equal(true);
      }
    });
  }
});

describe('the files of the package', () => {
  it('have no status of modules that were served in the checkout', () => {
    const status = 'modules.d/.status/notes.json';
    expect(listPackedFiles([status])).not.to.include(status);
  });
});

/** A line of one word, link or piece of code stays as long as it is. */
function canWrap(text: string): boolean {
  const words = text.replace(/`[^`]*`/g, '``').replace(/\]\([^)]*\)/g, ']');
  return words.trim().includes(' ');
}

/**
 * Lists the files of packages without the build, which has no pages and takes seconds to compress.
 */
function listPackedFiles(more: readonly string[] = []): string[] {
  const folder = createFolder();
  copyPacked(folder);
  for (const file of more) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), '{}');
  }
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

function listParents(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...listParents(parent)];
}
