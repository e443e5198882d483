import { escapeBlanks } from '../../contract/index.js';
import type { Declared } from '../exposed/exposed-operations.js';

/** What the manifest says of an operation to the person who decides; `null` where it says nothing. */
export interface ManifestWords {
  readonly summary: string | null;
  readonly description: string | null;
  /** The question of an action before it is invoked. */
  readonly confirmation: {
    readonly message: string;
    /** What the person has to type. */
    readonly required_phrase: string | null;
  } | null;
}

/** More than a person reads before a decision. Characters. */
const MAX_TEXT = 4000;

/** Reads the words that are stored with a request: later ones of the manifest do not change it. */
export function readWords(declared: Declared): ManifestWords {
  if (declared.kind === 'route') {
    const { summary, description } = declared.route.declared;
    return { summary: cut(summary), description: cut(description), confirmation: null };
  }
  const { label, description } = declared.kind === 'entity' ? declared.entity : declared.action;
  const confirmation = declared.kind === 'action' ? declared.action.confirmation : undefined;
  return {
    summary: cut(label),
    description: cut(description),
    confirmation: confirmation
      ? {
          message: confirmation.message.slice(0, MAX_TEXT),
          required_phrase: cut(confirmation.required_phrase),
        }
      : null,
  };
}

/** The words without invisible characters; the description has one paragraph a line. */
export function showWords({
  summary = null,
  description = null,
  confirmation = null,
}: Partial<ManifestWords>): ManifestWords {
  return {
    summary: summary && escapeBlanks(summary),
    description: description && showParagraphs(description),
    confirmation: confirmation && {
      message: showParagraphs(confirmation.message),
      required_phrase: confirmation.required_phrase && escapeBlanks(confirmation.required_phrase),
    },
  };
}

function cut(text: string | undefined): string | null {
  return text?.slice(0, MAX_TEXT) || null;
}

/** Empty lines would push other text out of view. */
function showParagraphs(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => escapeBlanks(line.trim()));
  return lines.filter(Boolean).join('\n');
}
