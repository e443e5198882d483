import {
  headerValue,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { call } from '../http/call.js';
import { buildManifest, describeModule } from '../http/modules.js';
import { waitUntil } from '../http/wait-until.js';
import type { Environment } from '../open-host.js';
import {
  type HostOptions,
  type HostProcess,
  type RunningHost,
  startHost,
  startHostProcess,
} from '../start-host.js';
import type { OtlpReceiver, ReceivedSpan } from './otlp-receiver.js';

/** Nothing listens there. */
export const UNREACHABLE = 'http://127.0.0.1:1';
/** A span of the client. */
export const CALLER = 'b'.repeat(16);
export const RELEASE = `sha256:${'1'.repeat(64)}`;
export const UI = `sha256:${'2'.repeat(64)}`;

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const SERVER = 2;
const CLIENT = 3;

interface Trace {
  readonly server: ReceivedSpan;
  /** The spans in the order of their start. */
  readonly clients: readonly ReceivedSpan[];
}

/** Serves the modules `shop`, `down` (nothing listens) and `half` (one of two endpoints is down). Batches are short. */
export function startTracedHost(provider: string, env: Environment): Promise<RunningHost> {
  return startHost(describeTraced(provider, env));
}

/** Works like `startTracedHost`, in a separate process. */
export function startTracedProcess(provider: string, env: Environment): Promise<HostProcess> {
  return startHostProcess(describeTraced(provider, env));
}

function describeTraced(provider: string, env: Environment): HostOptions {
  const admin = {
    entities: [{ name: 'items', read_capability: 'shop.read', list_path: '/admin/items' }],
  };
  return {
    files: {
      'shop.json': describeModule('shop', provider, ROUTES, {
        manifest: { inline: { ...buildManifest('shop', ROUTES), admin } },
        console: { release: RELEASE, ui: [UI], grants: ['shop.read'] },
      }),
      'down.json': describeModule('down', UNREACHABLE, ROUTES),
      'half.json': describeModule('half', UNREACHABLE, ROUTES, {
        provider: { kind: 'http', config: { endpoints: [UNREACHABLE, provider] } },
      }),
    },
    env: { OTEL_BSP_SCHEDULE_DELAY: '50', ...env },
  };
}

export function traceparent(traceId: string, flags = '01'): RawHeader {
  return ['traceparent', `00-${traceId}-${CALLER}-${flags}`];
}

export function callItem(
  host: { readonly port: number },
  headers: readonly RawHeader[] = [],
  module = 'shop',
): Promise<ReceivedResponse> {
  return call(host, { target: `/modules/${module}/http/items/1?q=hunter2`, headers });
}

export function spansOf(receiver: OtlpReceiver, traceId: string): ReceivedSpan[] {
  return receiver.spans.filter((span) => span.traceId === traceId);
}

/** Waits for `count` spans of a trace, one of them the server span. @throws for further spans */
export async function waitForTrace(
  receiver: OtlpReceiver,
  traceId: string,
  count: number,
): Promise<Trace> {
  await waitUntil('spans', () => spansOf(receiver, traceId).length >= count);
  const spans = spansOf(receiver, traceId);
  const servers = spans.filter(({ kind }) => kind === SERVER);
  const clients = spans.filter(({ kind }) => kind === CLIENT);
  const [server] = servers;
  if (server === undefined || servers.length > 1 || 1 + clients.length !== count) {
    throw new Error(`expected ${count} spans, got ${spans.map(({ name }) => name).join('; ')}`);
  }
  return { server, clients: clients.toSorted((a, b) => Number(a.startedAt - b.startedAt)) };
}

/** The trace, span and flags that a provider received. @throws when there are none. */
export function readTraceparent(headers: readonly RawHeader[]): readonly [string, string, string] {
  const text = headerValue(headers, 'traceparent') ?? '';
  const [, trace, span, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? [];
  if (trace === undefined || span === undefined || flags === undefined) {
    throw new Error(`no traceparent: '${text}'`);
  }
  return [trace, span, flags];
}
