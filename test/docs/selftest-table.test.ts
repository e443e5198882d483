import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ATTACKS } from '../../core/selftest/attack-corpus.js';
import { ATTACK_CLASSES } from '../attacks/attack.js';
import { ATTACK_CORPUS } from '../attacks/corpus.js';

/** Every case of the corpus is run, and must hold, in test/attacks. */
function createRows(): string[] {
  const ofHosts = new Set(ATTACKS.map(({ id }) => id));
  const createRow = (name: string, subject: string, attacks: readonly { id: string }[]) => {
    const count = attacks.filter(({ id }) => ofHosts.has(id)).length;
    return `| ${name} | ${subject} | ${attacks.length} | ${count} |`;
  };
  const rows = Object.entries(ATTACK_CLASSES).map(([name, subject]) =>
    createRow(
      `\`${name}\``,
      subject,
      ATTACK_CORPUS.filter((attack) => attack.class === name),
    ),
  );
  return [...rows, createRow('', 'all', ATTACK_CORPUS)];
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
