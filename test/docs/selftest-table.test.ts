import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ATTACK_CLASSES } from '../../core/selftest/attack-case.js';
import { ATTACK_CORPUS } from '../../core/selftest/attack-corpus.js';

/** Every case of the corpus is run, and must hold, in test/selftest: so the result is that of the counts. */
function createRows(): string[] {
  const rows = Object.entries(ATTACK_CLASSES).map(([name, subject]) => {
    const count = ATTACK_CORPUS.filter((attack) => attack.class === name).length;
    return `| \`${name}\` | ${subject} | ${count} | ${count} held |`;
  });
  const all = ATTACK_CORPUS.length;
  return [...rows, `| | all | ${all} | ${all} held |`];
}

describe('the attacks in the docs', () => {
  it('are counted in the README as the corpus has them', () => {
    const text = readFileSync('README.md', 'utf8');
    const [, table = ''] = /<!-- selftest -->\n([\s\S]*?)\n<!-- \/selftest -->/.exec(text) ?? [];
    expect(table.split('\n').slice(2)).to.deep.equal(createRows());
  });

  it('have a defence in SECURITY.md, each class', () => {
    const text = readFileSync('SECURITY.md', 'utf8');
    const rows = text.split('\n').filter((line) => /^\| `/.test(line));
    const attackClasses = rows.flatMap((row) => [
      ...(row.split('|')[1]?.matchAll(/`([a-z-]+)`/g) ?? []),
    ]);
    expect(attackClasses.map(([, name]) => name).sort()).to.deep.equal(
      Object.keys(ATTACK_CLASSES).sort(),
    );
  });
});
