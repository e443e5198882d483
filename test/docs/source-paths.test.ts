import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const PAGES = ['CONTRIBUTING.md', 'docs/architecture.md'];
const SOURCE_PATH = /`((?:core|plugins|test|bench|tools)\/[\w./-]*)`/g;

for (const page of PAGES) {
  describe(page, () => {
    it('names files and folders that exist', () => {
      const paths = [...readFileSync(page, 'utf8').matchAll(SOURCE_PATH)].map(([, path]) => path);
      expect(paths).to.have.length.above(15);
      expect(paths.filter((path = '') => !existsSync(path))).to.deep.equal([]);
    });
  });
}
