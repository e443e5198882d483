import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

const IMPORTS = `
  import { runAs } from '${new URL('../../core/isolation/error-owner.js', import.meta.url)}';
  import { findErrorOwner } from '${new URL('../../core/isolation/error-owner.js', import.meta.url)}';
  import { overrideGlobals } from '${new URL('../../core/cli/global-overrides.js', import.meta.url)}';
  const owner = { report: (error) => console.log('owner:', error.message) };
  process.on('uncaughtException', (error) => {
    const found = findErrorOwner();
    if (found === null) console.log('host:', error.message);
    else found.report(error);
  });
`;

/** Runs a module in a separate process. @returns its output and exit code. */
function run(script: string) {
  const args = ['--input-type=module', '--eval', IMPORTS + script];
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { stdout, status };
}

describe('global overrides', () => {
  const microtask = `runAs(owner, () => queueMicrotask(() => { throw new Error('lost'); }));`;
  const exit = `runAs(owner, () => setImmediate(() => process.exit(7)));`;

  it('report an error of a microtask to the owner of its code', () => {
    expect(run(`overrideGlobals(); ${microtask}`).stdout).to.equal('owner: lost\n');
  });

  it('are needed for microtasks on Node.js 20 only', () => {
    const isNeeded = process.versions.node.startsWith('20.');
    expect(run(microtask).stdout).to.equal(isNeeded ? 'host: lost\n' : 'owner: lost\n');
  });

  it('do not affect the microtasks of the host', () => {
    const script = `overrideGlobals(); queueMicrotask(() => { throw new Error('own'); });`;
    expect(run(script).stdout).to.equal('host: own\n');
  });

  it('make process.exit throw in the code of an owner', () => {
    const message = 'owner: process.exit is reserved for the host\n';
    expect(run(`overrideGlobals(); ${exit}`)).to.deep.equal({
      stdout: message.repeat(2),
      status: 0,
    });
  });

  it('are needed for process.exit', () => {
    expect(run(exit)).to.deep.equal({ stdout: '', status: 7 });
  });

  it('let the host exit', () => {
    expect(run('overrideGlobals(); process.exit(7);')).to.deep.equal({ stdout: '', status: 7 });
  });
});
