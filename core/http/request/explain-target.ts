import { MODULE_NAME } from '../../descriptor/identifiers.js';
import { DOT_SEGMENT } from '../../lib/path-segment.js';
import type { TargetProblem } from '../../operations/explain/explanation.js';
import { decodeSegment, MARK, PREFIX, parseTarget } from './target.js';

// The rules of target.ts in detail. A property test compares the two.
const REWRITTEN = /[^!$-;=@-[\]_a-z~]/;
const UNSENDABLE = /[^!"$-\u00ff]/;

interface SegmentRule {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly reason: string;
}

/** Rules for decoded segments. The first that is broken is reported. */
const SEGMENT_RULES: readonly SegmentRule[] = [
  { rule: 'empty-segment', pattern: /^$/, reason: 'is empty' },
  {
    rule: 'dot-segment',
    pattern: DOT_SEGMENT,
    reason: "is '.' or '..', or starts with one of them and ';'",
  },
];

/** Rules for decoded segments that were percent-encoded. */
const DECODED_RULES: readonly SegmentRule[] = [
  { rule: 'encoded-slash', pattern: /[/\\]/, reason: 'contains an encoded slash or backslash' },
  { rule: 'encoded-delimiter', pattern: /[?#]/, reason: "contains an encoded '?' or '#'" },
  {
    rule: 'control-character',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
    pattern: /[\u0000-\u001f\u007f-\u009f]/,
    reason: 'contains an encoded control character',
  },
  {
    rule: 'double-encoding',
    pattern: /%[0-9A-Fa-f]{2}/,
    reason: 'is encoded twice',
  },
];

/**
 * Why a target of the shape `/modules/{module}/http/{*path}` can match no route: the first rule that it breaks.
 * `null` unless `parseTarget` returns `unmatched`.
 */
export function findTargetProblem(target: string): TargetProblem | null {
  if (parseTarget(target).kind !== 'unmatched') return null;
  if (!target.startsWith(PREFIX)) {
    return createProblem('absolute-form', null, 'the target starts with a scheme and a host');
  }
  const [path = ''] = target.split('?', 1);
  const moduleEnd = path.indexOf('/', PREFIX.length);
  return (
    findModuleProblem(path.slice(PREFIX.length, moduleEnd)) ??
    findQueryProblem(target.slice(path.length)) ??
    findPathProblem(path.slice(moduleEnd + MARK.length + 1))
  );
}

function findModuleProblem(raw: string): TargetProblem | null {
  const module = decodeSegment(raw);
  if (module === null)
    return createProblem('bad-encoding', null, 'the module is not percent-encoded UTF-8');
  if (MODULE_NAME.test(module)) return null;
  const hint = /%2f/i.test(raw) ? '' : "; a slash in it is written '%2F'";
  return createProblem('module-name', null, `the module is not a valid name${hint}`);
}

function findQueryProblem(query: string): TargetProblem | null {
  if (!UNSENDABLE.test(query)) return null;
  return createProblem(
    'query-characters',
    null,
    'the query contains a character that must be encoded',
  );
}

/** Raw characters are checked before any segment, as in target.ts. */
function findPathProblem(path: string): TargetProblem | null {
  const segments = path.split('/');
  const rewritten = segments.findIndex((raw) => REWRITTEN.test(raw));
  if (rewritten !== -1) {
    const reason = 'contains a character that must be encoded';
    return createProblem('raw-characters', rewritten, `segment ${rewritten + 1} ${reason}`);
  }
  for (const [index, raw] of segments.entries()) {
    const found = findSegmentProblem(raw);
    if (found === null) continue;
    const isTrailing = raw === '' && index > 0 && index === segments.length - 1;
    const why = isTrailing ? 'the path ends with a slash' : `segment ${index + 1} ${found.reason}`;
    return createProblem(found.rule, index, why);
  }
  return null;
}

function findSegmentProblem(raw: string): Pick<SegmentRule, 'rule' | 'reason'> | null {
  const decoded = decodeSegment(raw);
  if (decoded === null) return { rule: 'bad-encoding', reason: 'is not percent-encoded UTF-8' };
  const rules = decoded === raw ? SEGMENT_RULES : [...SEGMENT_RULES, ...DECODED_RULES];
  return rules.find(({ pattern }) => pattern.test(decoded)) ?? null;
}

function createProblem(rule: string, index: number | null, reason: string): TargetProblem {
  return { rule, segment: index === null ? null : index + 1, reason };
}
