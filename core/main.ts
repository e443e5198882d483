#!/usr/bin/env node
import { writeStdout } from './cli/output/write-stdout.js';
import { runCli } from './cli/run-cli.js';

// A closed pipe (`modgate --help | head -1`) is not an error; warnings of Node.js may have one too.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const code = await runCli(process.argv.slice(2), {
  environment: process.env,
  print: writeStdout,
  printError: (text) => process.stderr.write(text),
  exit: (code) => process.exit(code),
});
process.exit(code);
