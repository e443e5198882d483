// Searches the output of all hosts of a test run for credentials. The tests plant them in headers,
// descriptors, tokens files, environments and provider responses. Exits with 1 if one is found.
// Usage: MODGATE_TEST_OUTPUT=DIR npm test, then node tools/scan-output.mjs DIR
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CREDENTIALS = [
  ['a development token', /dev-(?:service|user|system):[A-Za-z0-9._@-]+/],
  ['a bearer token', /Bearer [A-Za-z0-9._~+/-]{4,}/],
  ['a basic credential', /basic [A-Za-z0-9+/]{8,}=/i],
  ['a private key', /PRIVATE KEY-----/],
  ['a signed token', /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\./],
  ['the password of a URL', /[a-z]+:\/\/[^\s/:@"]+:[^\s/@"]{3,}@/],
];
/** Values that tests plant as secrets of providers, modules and stores. */
const PLANTED = [
  'ldap-password-that-nobody-prints',
  'provider-s3cret',
  'hunter2',
  's3cret-default',
  'correct horse battery staple',
  'a secret that no log holds',
  'a secret under the first key',
  'the default of a secret',
  'own-owner-',
];

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('name the folder of MODGATE_TEST_OUTPUT');
const found = [];
let bytes = 0;
const files = readdirSync(directory);
for (const file of files) {
  const text = readFileSync(join(directory, file), 'utf8');
  bytes += text.length;
  for (const line of text.split('\n')) {
    const what =
      CREDENTIALS.find(([, pattern]) => pattern.test(line))?.[0] ??
      PLANTED.find((secret) => line.includes(secret));
    if (what !== undefined) found.push(`${what}: ${line.slice(0, 300)}`);
  }
}
console.log(`${files.length} hosts printed ${bytes} bytes; credentials in them: ${found.length}`);
for (const line of found.slice(0, 20)) console.log(line);
// An empty scan proves nothing.
process.exitCode = found.length > 0 || files.length === 0 ? 1 : 0;
