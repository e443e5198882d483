import { SPOOFED } from '../servers/broker-scripts.js';
import { answer, formatOk, isOf, NEVER, type WeakenedHosts, weak } from './weakness.js';

const SPOOFED_CALL =
  /\/messages\/(?:(?:no|empty|earlier|last|part|case|member|longest)-id|many-ids|other-consumer|returned) /;
const LYING_CALL =
  /\/messages\/(?:status-\S+|line-break|nested-headers|above-limit|endless-body|longer-body|not-confirmed) /;

/** Each answers calls of the module `queue` itself. */
export const WEAKENED_BROKERS: WeakenedHosts = {
  'takes the next answer for that of its call': weak(
    'broker-no-id broker-empty-id broker-earlier-id broker-last-id broker-part-id broker-case-id ' +
      'broker-member-id broker-longest-id broker-many-ids broker-other-consumer broker-returned',
    answer(SPOOFED_CALL, formatOk(`{"data":${SPOOFED}}`)),
  ),
  'keeps an answer for the next call': weak('broker-twice', {
    respond: async (text) =>
      text.includes('/messages/own ') && isOf(text, 'broker-twice')
        ? formatOk(`{"data":${SPOOFED}}`)
        : null,
  }),
  'takes any confirmation for its own': weak(
    'broker-other-confirms',
    answer(/\/messages\/other-confirms /, formatOk('', '502 No')),
  ),
  'passes answers on as they come': weak(
    'broker-status-* broker-line-break broker-nested-headers broker-above-limit ' +
      'broker-endless-body broker-longer-body broker-not-confirmed',
    answer(LYING_CALL, formatOk(`{"data":${SPOOFED}}`)),
  ),
  'ends with the connection to its broker': weak(
    'broker-long-frame broker-cut-* broker-not-a-method broker-body-alone broker-other-channel ' +
      'broker-return-alone broker-cancelled broker-blocked',
    {
      respond: async (text) =>
        text.includes('/messages/own ') &&
        isOf(
          text,
          'broker-(?:long-frame|cut-.*|not-a-method|body-alone|other-channel|return-alone|cancelled|blocked)',
        )
          ? formatOk('', '502 No')
          : null,
    },
  ),
  'waits while a broker beats': weak(
    'broker-beats broker-header-alone',
    { respond: async (text) => (/\/messages\/(?:beats|header-alone) /.test(text) ? NEVER : null) },
    true,
  ),
};
