import type { OpenSurfaces } from './compose.js';
import type { HostConfig } from './config/settings.js';
import type { Logger } from './log/logger.js';

interface ListeningHost {
  readonly url: string;
  readonly surfaces: OpenSurfaces;
  /** Absent for a host of one process. */
  readonly workers?: number;
}

/** Logs the addresses of the host and its surfaces; that of the host at every level. */
export function reportListening(
  log: Logger,
  { publicUrl }: Pick<HostConfig, 'publicUrl'>,
  { surfaces, ...listening }: ListeningHost,
): void {
  log.announce(listening, 'listening');
  const origin = publicUrl ?? listening.url;
  for (const { name, prefix } of surfaces) {
    log.info({ surface: name, url: `${origin}${prefix}` }, 'surface ready');
  }
}
