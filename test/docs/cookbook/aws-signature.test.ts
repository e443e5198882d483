import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import {
  type AwsAccount,
  computeSignature,
  findSignatureProblem,
  type ReceivedRequest,
} from '../../support/cookbook/aws-signature.js';
import {
  type DocumentedBlock,
  readDocumentedBlocks,
  readDocumentedCommands,
} from '../../support/docs/documented-commands.js';
import { createGuideFolder } from '../../support/docs/guide-folder.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { sendRequest } from '../../support/http/send-request.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { openHost } from '../../support/open-host.js';
import { use } from '../../support/use.js';

const PAGE = 'docs/cookbook/aws-signature.md';
const ORIGIN = /https:\/\/\w+\.execute-api\.eu-central-1\.amazonaws\.com/;
const ACCOUNT: AwsAccount = {
  accessKey: 'AKIDEXAMPLEOFTESTS',
  secretKey: 'a secret key that no log holds',
  region: 'eu-central-1',
  service: 'execute-api',
};
const TOKEN = 'a session token that no log holds';
/** The values of the page's module. */
const SECRET = 'env:AWS_SECRET_ACCESS_KEY';
const MINUTE_MS = 60_000;

describe(PAGE, () => {
  const blocks = readDocumentedBlocks(PAGE);
  const received: ReceivedRequest[] = [];
  const problems: (string | null)[] = [];
  const commands = readDocumentedCommands(PAGE);
  /** The environment of the commands that run before the host starts. */
  const outputs = new Map<string, string>();
  /** The responses of the host to its callers. */
  const shown: string[] = [];
  /** The clock skew of the service, which is ahead. Milliseconds. */
  let skewMs = 0;
  let service: Server;

  const readPort = () => (service.address() as AddressInfo).port;
  const run = (command: string) =>
    folder.run(command.replaceAll('localhost:3000', `127.0.0.1:${host.port}`));

  const folder = use(async () => {
    service = await startService((request) => {
      const problem = findSignatureProblem(request, ACCOUNT, Date.now() + skewMs);
      received.push(request);
      problems.push(problem);
      return problem;
    });
    return createGuideFolder();
  });
  const host = use(async () => {
    const [create] = blocks.filter(({ kind }) => kind === 'sh');
    await folder.run(create?.body ?? '');
    const install = blocks.find(({ body }) => body.startsWith('npm install '));
    linkPackages(folder.path, install);
    for (const block of blocks) {
      const body = block.body.replace(ORIGIN, `http://127.0.0.1:${readPort()}`);
      folder.writeFile({ ...block, body });
    }
    // The tests of the plugin build it, and the host imports it.
    for (const { command } of commands.filter(({ command: text }) => /npm test/.test(text))) {
      outputs.set(command, await folder.run(command));
    }
    const descriptor = readFileSync(join(folder.path, 'modules.d/orders.yaml'), 'utf8');
    for (const [name, secret] of [
      ['mistaken', 'env:OTHER_SECRET_ACCESS_KEY'],
      ['temporary', `${SECRET}\n        session_token: env:AWS_SESSION_TOKEN`],
    ] as const) {
      const other = descriptor.replace('module: orders', `module: ${name}`);
      writeFileSync(join(folder.path, `modules.d/${name}.yaml`), other.replace(SECRET, secret));
    }
    return openHost(
      [
        ...['serve', '--config', join(folder.path, 'aws.yaml'), '--port', '0'],
        ...['--modules', join(folder.path, 'modules.d'), '--state', join(folder.path, 'state')],
        ...['--log-level', 'debug'],
      ],
      {
        AWS_ACCESS_KEY_ID: ACCOUNT.accessKey,
        AWS_SECRET_ACCESS_KEY: ACCOUNT.secretKey,
        AWS_SESSION_TOKEN: TOKEN,
        OTHER_SECRET_ACCESS_KEY: `${ACCOUNT.secretKey}!`,
      },
    );
  });

  after(async () => {
    service?.close();
    folder.remove();
  });

  it('has a service in this test that signs as a published example of AWS', () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      host: 'iam.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
    };
    const secretKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
    const example = { accessKey: 'AKIDEXAMPLE', secretKey, region: 'us-east-1', service: 'iam' };
    const target = '/?Action=ListUsers&Version=2010-05-08';
    const request = { method: 'GET', target, headers, body: Buffer.alloc(0) };
    expect(computeSignature(request, example, Object.keys(headers))).to.equal(
      '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    );
  });

  for (const { command, output } of commands) {
    it(`runs as written: ${command.slice(0, 60)}…`, async () => {
      expect(outputs.get(command) ?? (await run(command))).to.equal(output);
    });
  }

  it('signs content type, host, time and body', () => {
    expect(problems).to.deep.equal([null, null]);
    expect(received[0]?.headers['authorization']).to.include(
      'SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, ',
    );
  });

  for (const target of ["/(a)!'*,;:@", '/%C3%A9%3A?b=2&a-b=%2B&a=%20&b=10&b=', '/~?sub=(1)*!']) {
    it(`signs a path and a query with odd characters: ${target}`, async () => {
      const { status } = await call(host, { target: `/modules/orders/http/orders${target}` });
      expect([status, problems.at(-1)]).to.deep.equal([200, null]);
      expect(received.at(-1)?.target).to.equal(`/prod/orders${target}`);
    });
  }

  it('signs a request that is good for one body and a few minutes', async () => {
    const [posted] = received;
    if (posted === undefined) return expect.fail('no request was received');
    const repeat = async (body: Uint8Array) => {
      const headers = Object.entries(posted.headers).filter(([name]) => name !== 'content-length');
      const { method, target } = posted;
      const response = await sendRequest(readPort(), { method, target, headers, body });
      return [response.status, problems.at(-1)];
    };
    expect(await repeat(posted.body)).to.deep.equal([200, null]);
    expect(await repeat(Buffer.from('{"item":"gin"}'))).to.deep.equal([403, 'another signature']);
    skewMs = 6 * MINUTE_MS;
    expect(await repeat(posted.body)).to.deep.equal([403, 'expired']);
    skewMs = 0;
  });

  it('sends the token of temporary credentials, and signs it', async () => {
    const { status } = await call(host, { target: '/modules/temporary/http/orders/1' });
    expect([status, problems.at(-1)]).to.deep.equal([200, null]);
    expect(received.at(-1)?.headers).to.include({ 'x-amz-security-token': TOKEN });
  });

  it('is rejected by the service with another secret', async () => {
    const response = await call(host, {
      method: 'POST',
      target: '/modules/mistaken/http/orders',
      headers: [JSON_TYPE],
      body: Buffer.from('{"item":"tea"}'),
    });
    shown.push(response.body.toString('utf8'));
    expect(problems.at(-1)).to.equal('another signature');
    expect(response.status).to.equal(502);
    expect(parseJson(response)).to.deep.include({ code: 'external_dependency_failure' });
    expect(parseJson(response)['errors']).to.deep.include({
      field: 'provider_status',
      reason: '403',
    });
  });

  it('keeps keys and signatures out of answers, records and the log', async () => {
    const isLogged = () => host.logs().some(({ status }) => status === 502);
    await waitUntil('the line of the rejected call', isLogged);
    shown.push(host.output());
    for (const target of ['/calls', '/modules']) {
      const { body } = await call(host, { target });
      shown.push(body.toString('utf8'));
    }
    expect(shown).to.have.length(4);
    for (const text of shown) expect(text).to.include('mistaken');
    const signatures = received.map(({ headers }) => headers['authorization']?.split('=').at(-1));
    for (const secret of [ACCOUNT.secretKey, ACCOUNT.accessKey, TOKEN, ...signatures]) {
      expect(secret).to.have.length.above(10);
      expect(shown.join('')).not.to.include(secret);
    }
  });
});

/** Installs what the page names from the packages of this repository, without the registry. */
function linkPackages(folder: string, install: DocumentedBlock | undefined): void {
  const [, name = ''] = /^npm install (@[\w-]+)\//.exec(install?.body ?? '') ?? [];
  for (const linked of [name, '@types', '.bin']) {
    symlinkSync(join(process.cwd(), 'node_modules', linked), join(folder, 'node_modules', linked));
  }
}

/** Returns the body of the request, or its target; 403 with the signature for a request that `check` rejects. */
async function startService(check: (request: ReceivedRequest) => string | null): Promise<Server> {
  const answer = async (incoming: IncomingMessage): Promise<[number, object]> => {
    const body = await buffer(incoming);
    const { method = '', url: target = '' } = incoming;
    const headers = incoming.headers as Readonly<Record<string, string>>;
    const isValid = check({ method, target, headers, body }) === null;
    if (!isValid) return [403, { message: `not allowed: ${headers['authorization']}` }];
    return [200, body.length === 0 ? { target } : JSON.parse(body.toString('utf8'))];
  };
  const server = createServer(async (incoming, response) => {
    const [status, content] = await answer(incoming);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(content));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
