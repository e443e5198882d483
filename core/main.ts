#!/usr/bin/env node

// A closed pipe (`modgate --help | head -1`) is not an error; warnings of Node.js may have one too.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// `systemctl reload` may follow a start at once, and SIGHUP ends a process that does not listen to it.
if (process.argv[2] === 'serve') process.on('SIGHUP', () => {});

const [{ writeStdout }, { runCli }] = await Promise.all([
  import('./cli/output/write-stdout.js'),
  import('./cli/run-cli.js'),
]);
const code = await runCli(process.argv.slice(2), {
  environment: process.env,
  print: writeStdout,
  printError: (text) => process.stderr.write(text),
  exit: (code) => process.exit(code),
});
process.exit(code);

export {};
