import { define } from 'superstruct';

/** Visible ASCII but for what a URL parser rewrites or reads as the end of the path. */
const PLAIN_PATH = /^\/(?:[!$&'()*+,\-.0-9:;=@A-Z[\]_a-z~/]|%[0-9A-Fa-f]{2})*$/;
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:;[^/]*)?(?=\/|$)/i;

/**
 * A path that the host calls as it stands: no query, no fragment, no dot segments, nothing that a URL
 * parser would rewrite, and no `//`, at which one would read a host name.
 */
export const plainPath = define<string>(
  'a plain absolute path, such as /admin/contacts',
  (value) =>
    typeof value === 'string' &&
    PLAIN_PATH.test(value) &&
    !value.includes('//') &&
    !DOT_SEGMENT.test(value),
);
