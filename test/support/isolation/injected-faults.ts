/**
 * Preloaded into a host with `--import`: makes functions of Node.js fail while the file of the variable
 * `INJECTED_FAULT` names them. Each failure adds a line to `<file>.fired`. The intervals of the store
 * and the console are short.
 */
import fs from 'node:fs';
import { ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import Libsql from 'libsql';
import pg from 'pg';
import { Registry } from 'prom-client';

const CONTROL = process.env['INJECTED_FAULT'] ?? '';
const { readFileSync, appendFileSync } = fs;

/** An error that no code expects: neither an error of the system nor one of the host. */
const INJECTED = () => new TypeError('injected fault');

type Fault = (original: (...args: unknown[]) => unknown) => (...args: unknown[]) => unknown;

const throws: Fault = () => () => {
  throw INJECTED();
};
const rejects: Fault = () => () => Promise.reject(INJECTED());
/** Throws out of an event of its own. */
const throwsLater: Fault = () => () => {
  setImmediate(throws(INJECTED));
};
/** Calls back with the error. */
const fails: Fault =
  () =>
  (...args) => {
    const callback = args.at(-1) as (error: Error) => void;
    setImmediate(callback, Object.assign(INJECTED(), { code: 'EIO' }));
  };
/** Returns an emitter that emits the error. */
const emits: Fault =
  (original) =>
  (...args) => {
    const emitter = original(...args) as NodeJS.EventEmitter;
    setImmediate(() => emitter.emit('error', INJECTED()));
    return emitter;
  };

/** `from`: only calls that have this on their stack fail. */
type Point = readonly [target: object, name: string, fault: Fault, from?: string];

const Statement = new Libsql(':memory:').prepare('select 1').constructor;

const POINTS: Readonly<Record<string, Point>> = {
  'readdir rejects': [fs.promises, 'readdir', rejects],
  'readdir throws': [fs.promises, 'readdir', throws],
  'open rejects': [fs.promises, 'open', rejects],
  'open throws': [fs.promises, 'open', throws],
  'stat of a promise rejects': [fs.promises, 'stat', rejects],
  'stat throws': [fs, 'stat', throws],
  'stat fails': [fs, 'stat', fails],
  'lstat rejects': [fs.promises, 'lstat', rejects],
  'rename rejects': [fs.promises, 'rename', rejects],
  'watch throws': [fs, 'watch', throws],
  'watch emits an error': [fs, 'watch', emits],
  'write fails': [fs, 'write', fails],
  'connect throws': [Socket.prototype, 'connect', throws],
  'writeHead throws': [ServerResponse.prototype, 'writeHead', throws],
  'end throws': [ServerResponse.prototype, 'end', throws],
  'export of spans throws': [OTLPTraceExporter.prototype, 'export', throws],
  'export of spans rejects': [OTLPTraceExporter.prototype, 'export', rejects],
  'export of spans throws later': [OTLPTraceExporter.prototype, 'export', throwsLater],
  'a read of metrics rejects': [
    Registry.prototype,
    'getMetricsAsJSON',
    rejects,
    '/metrics/metrics.',
  ],
  'a query of SQLite throws': [Statement.prototype, 'all', throws],
  'a write to SQLite throws': [Statement.prototype, 'run', throws],
  'a transaction of SQLite throws': [Libsql.prototype, 'exec', throws],
  'a query of PostgreSQL throws': [pg.Client.prototype, 'query', throws],
  'a query of PostgreSQL rejects': [pg.Client.prototype, 'query', rejects],
  'a stream of the console throws': [TextEncoder.prototype, 'encode', throws, '/plugins/console/'],
  'a timer of the console rejects': [Date, 'now', throws, '/plugins/console/live/host-feed'],
  'an event of the adapter http throws': [Array, 'isArray', throws, '/plugins/http/upstream-'],
};
/** The store and the console poll. */
const SHORT_INTERVAL_MS = 50;
const POLLING = ['/plugins/console/', '/core/store/'];

function readActive(): string {
  try {
    return readFileSync(CONTROL, 'utf8');
  } catch {
    return '';
  }
}

function isCalledFrom(from: string): boolean {
  return new Error().stack?.includes(from) ?? false;
}

for (const [point, [target, name, fault, from = '']] of Object.entries(POINTS)) {
  const original = Reflect.get(target, name) as (...args: unknown[]) => unknown;
  Reflect.set(target, name, function (this: unknown, ...args: unknown[]) {
    const bound = original.bind(this);
    if (readActive() !== point || !isCalledFrom(from)) return bound(...args);
    appendFileSync(`${CONTROL}.fired`, `${point}\n`);
    return fault(bound)(...args);
  });
}
const { setInterval } = globalThis;
Reflect.set(globalThis, 'setInterval', (work: () => void, delayMs: number) =>
  setInterval(work, POLLING.some(isCalledFrom) ? SHORT_INTERVAL_MS : delayMs),
);
syncBuiltinESMExports();
