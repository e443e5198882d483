import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { parseIssuersFile } from '../../core/auth/issuers-file.js';
import { parseRolesFile } from '../../core/auth/role-table.js';
import { parseTokenFile } from '../../core/auth/token-file.js';
import { readConfigFile } from '../../core/config/read-config.js';
import { SETTINGS, settingFlag } from '../../core/config/settings.js';
import { parseCertificateFile } from '../../core/http/tls/certificate-file.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { readDocumentedCommands } from '../support/docs/documented-commands.js';
import { installModgate } from '../support/docs/install-modgate.js';
import { createFolder } from '../support/temporary-folder.js';

const FIFTY_SERVICES = 'docs/operate/fifty-services.md';
const AUTHENTICATION = 'docs/operate/authentication.md';
const LIMITS = 'docs/operate/limits.md';
const TLS = 'docs/operate/tls.md';
const PAGES = [
  ...[AUTHENTICATION, LIMITS, TLS, 'docs/operate/cross-origin.md', 'docs/operate/identity.md'],
  ...['docs/operate/configuration.md', FIFTY_SERVICES],
];
const SETTINGS_SHOWN = [
  ...(['maxConnections', 'maxRequestsPerConnection', 'headTimeoutMs', 'bodyTimeoutMs'] as const),
  ...(['requestTimeoutMs', 'sendTimeoutMs', 'idleTimeoutMs', 'maxHeaders'] as const),
];

interface YamlBlock {
  readonly file: string;
  readonly text: string;
}

/** Blocks name their file in their first line. */
function readYamlBlocks(page: string): YamlBlock[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/```yaml\n# (\S+)[^\n]*\n([\s\S]*?)```/g);
  return [...blocks].map(([, file = '', text = '']) => ({ file, text }));
}

const PARSERS: Readonly<Record<string, (block: YamlBlock, folder: string) => unknown>> = {
  'issuers.yaml': ({ file, text }) => parseIssuersFile(file, text, { LOGIN_SECRET: 'x' }),
  'clients.yaml': ({ file, text }) => parseCertificateFile(file, text),
  'roles.yaml': ({ file, text }) => parseRolesFile(file, text),
  'tokens.yaml': ({ file, text }) => parseTokenFile(file, text),
  'modules.d/mail/endpoints.yaml': ({ text }) => {
    expect(parse(text)).to.be.an('array').with.length.above(1);
  },
  'modgate.yaml': ({ file, text }, folder) => {
    writeFileSync(join(folder, file), text);
    return readConfigFile(join(folder, file));
  },
};

for (const page of PAGES) {
  describe(`the files of ${page}`, () => {
    const folder = createFolder();

    before(() => {
      // What the descriptors of the pages refer to.
      mkdirSync(join(folder, 'keys'));
      writeFileSync(join(folder, 'keys/billing.jwk.json'), '{}');
      mkdirSync(join(folder, 'mail'));
      writeFileSync(join(folder, 'mail/endpoints.yaml'), '- http://10.0.0.1:4100\n');
    });

    for (const [index, block] of readYamlBlocks(page).entries()) {
      it(`are good: ${index + 1}, ${block.file}`, async () => {
        const parse = PARSERS[block.file];
        if (parse !== undefined) {
          await parse(block, folder);
          return;
        }
        expect(block.file).to.match(/^modules\.d\//);
        const file = join(folder, 'module.yaml');
        writeFileSync(file, block.text);
        const { code, stdout } = await runModgate(['check', file], {
          CRM_CLIENT_SECRET: 'x',
          PAYROLL_CLIENT_SECRET: 'x',
        });
        expect(code, stdout).to.equal(0);
      });
    }
  });
}

describe(AUTHENTICATION, () => {
  let restorePath = () => {};

  const folder = createFolder();

  before(() => {
    restorePath = installModgate(join(folder, 'bin'));
  });

  after(() => {
    restorePath();
  });

  const run = async (command: string) => {
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      cwd: folder,
    });
    return stdout.trim();
  };

  it('has commands that do what it says, one after the other', async () => {
    const [, create = ''] =
      /```sh\n(npx modgate token create[^\n]*)\n```/.exec(readFileSync(AUTHENTICATION, 'utf8')) ??
      [];
    expect(await run(create)).to.equal('');
    expect(readFileSync(join(folder, 'billing.token'), 'utf8')).to.match(/^mgt_\S{43}\n$/);
    const commands = readDocumentedCommands(AUTHENTICATION);
    expect(commands).to.have.length(3);
    for (const { command, output } of commands) {
      expect(await run(command), command).to.equal(output);
    }
  });
});

describe(LIMITS, () => {
  const text = readFileSync(LIMITS, 'utf8');

  for (const name of SETTINGS_SHOWN) {
    it(`shows the default of ${settingFlag(name)}`, () => {
      const [, shown = ''] = new RegExp(`\`${settingFlag(name)}\` \\| ([\\d,]+)`).exec(text) ?? [];
      expect(shown.replaceAll(',', '')).to.equal(SETTINGS[name].default);
    });
  }
});

describe(TLS, () => {
  it('names metrics that there are', async () => {
    const text = readFileSync(TLS, 'utf8');
    const names = [...text.matchAll(/`(modgate_\w+)/g)].map(([, name]) => name ?? '');
    expect(names).to.have.length(3);
    const source = readFileSync('core/observability/metrics/process-metrics.ts', 'utf8');
    for (const name of names) expect(source).to.include(`'${name}'`);
  });
});
