import { isIPv4, isIPv6 } from 'node:net';
import { array, boolean, define, object, size } from 'superstruct';
import { described, optionally } from '../../../../core/contract/index.js';
import { integerBetween } from '../../integer-between.js';
import type { ResolverConfig } from '../transport-config.js';

const DEFAULT_REFRESH_MS = 5_000;
const DEFAULT_STALE_MS = 300_000;
const MAX_SERVERS = 8;
const DAY_MS = 86_400_000;

const server = described(
  define<string>(
    'IP address of a DNS server, with or without a port',
    (value) => typeof value === 'string' && isServer(value),
  ),
  {
    type: 'string',
    description: '`10.0.0.2`, `10.0.0.2:53`, `2001:db8::53` or `[2001:db8::53]:53`.',
  },
);

/** Settings for the resolution of names in `endpoints`. */
export const resolver = described(
  object({
    servers: optionally(size(array(server), 1, MAX_SERVERS), {
      minItems: 1,
      maxItems: MAX_SERVERS,
      description: "DNS servers, asked in this order. Default: the system's.",
    }),
    refresh_ms: optionally(integerBetween(100, 3_600_000), {
      default: DEFAULT_REFRESH_MS,
      description: 'From one lookup to the next. Milliseconds.',
    }),
    stale_ms: optionally(integerBetween(0, DAY_MS), {
      default: DEFAULT_STALE_MS,
      description: 'How long the last answer counts while servers fail. Milliseconds.',
    }),
    allow_local: optionally(boolean(), {
      default: false,
      description:
        'Whether loopback, link-local, multicast and unspecified addresses, and metadata services of clouds, are endpoints.',
    }),
  }),
  { description: 'How names in endpoints are resolved.' },
);

/** The settings with all defaults. */
export interface ResolverSettings {
  /** `null` for the servers of the system. */
  readonly servers: readonly string[] | null;
  readonly refreshMs: number;
  readonly staleMs: number;
  readonly allowLocal: boolean;
}

export function readResolver(config: ResolverConfig = {}): ResolverSettings {
  return {
    servers: config.servers ?? null,
    refreshMs: config.refresh_ms ?? DEFAULT_REFRESH_MS,
    staleMs: config.stale_ms ?? DEFAULT_STALE_MS,
    allowLocal: config.allow_local ?? false,
  };
}

function isServer(text: string): boolean {
  if (isIPv6(text)) return true;
  const [, bracketed, plain = '', port] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isAddress = bracketed === undefined ? isIPv4(plain) : isIPv6(bracketed);
  return isAddress && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535));
}
