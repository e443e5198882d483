import { startModgate } from './modgate.mjs';
import { startNginx } from './nginx.mjs';
import { HOST_CORE, hasCommand, startServer } from './pinned-process.mjs';

/**
 * A system that runs: `url` is what the paths of the payloads are appended to.
 * @typedef {object} RunningSystem
 * @property {number} pid whose process tree is measured
 * @property {string} url
 * @property {Record<string, string>} [headers]
 * @property {number} [spread] over how many modules the calls go; default: the last alone
 * @property {() => Promise<void>} stop
 */

/**
 * @typedef {object} SystemContext
 * @property {{ pid: number, url: string }} upstream
 * @property {string} dist the folder of modgate's build
 * @property {number} [modules] default 1
 * @property {number} [routes] of each module
 * @property {boolean} [hasIssuedToken]
 */

/**
 * @typedef {object} System
 * @property {string} name
 * @property {string} what
 * @property {boolean} isEnveloped whether the response is wrapped in the envelope
 * @property {() => boolean} isAvailable
 * @property {(context: SystemContext) => Promise<RunningSystem>} start
 */

const NGINX = 'nginx';
/** One actor sends everything: 32 bodies of 1 MiB at once exceed its default share of the memory budget. */
const ACTOR_BUDGET = ['--actor-budget', '128MiB'];
const always = () => true;

/** @type {readonly System[]} */
export const SYSTEMS = [
  {
    name: 'modgate',
    what: 'kind http; token, capability, envelope, metrics, log line, call record',
    isEnveloped: true,
    isAvailable: always,
    start: (context) =>
      startModgate({ ...context, upstream: context.upstream.url, args: ACTOR_BUDGET }),
  },
  {
    name: 'modgate-local',
    what: 'the same, the module being in the process',
    isEnveloped: true,
    isAvailable: always,
    start: (context) =>
      startModgate({ ...context, upstream: context.upstream.url, kind: 'local', args: ACTOR_BUDGET }),
  },
  {
    name: 'fastify-http-proxy',
    what: '@fastify/http-proxy, no log',
    isEnveloped: false,
    isAvailable: always,
    start: ({ upstream }) => startServer(HOST_CORE, 'fastify-http-proxy.mjs', [upstream.url]),
  },
  {
    name: 'http-proxy',
    what: 'http-proxy with an agent that keeps connections',
    isEnveloped: false,
    isAvailable: always,
    start: ({ upstream }) => startServer(HOST_CORE, 'http-proxy.mjs', [upstream.url]),
  },
  {
    name: 'bare',
    what: 'node:http and undici dispatch, nothing between',
    isEnveloped: false,
    isAvailable: always,
    start: ({ upstream }) => startServer(HOST_CORE, 'bare.mjs', [upstream.url]),
  },
  {
    name: 'nginx',
    what: 'proxy_pass, one worker, connections kept, no log',
    isEnveloped: false,
    isAvailable: () => hasCommand(NGINX, '-v'),
    start: ({ upstream }) => startNginx(NGINX, upstream.url),
  },
  {
    name: 'direct',
    what: 'the upstream itself',
    isEnveloped: false,
    isAvailable: always,
    start: async ({ upstream }) => ({ ...upstream, stop: async () => {} }),
  },
];
