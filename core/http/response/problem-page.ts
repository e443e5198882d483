import { PROBLEMS, type ProblemCode } from '../../errors.js';

interface Explanation {
  readonly meaning: string;
  readonly whatToDo: string;
}

const EXPLANATIONS: Readonly<Record<ProblemCode, Explanation>> = {
  validation_failed: {
    meaning: 'The request is not valid; errors names each invalid part.',
    whatToDo: 'Correct what errors names and send the request again.',
  },
  unauthorized: {
    meaning: 'The request has no credentials, or they are not valid.',
    whatToDo:
      'Send credentials that the host accepts; www-authenticate and next_actions name them.',
  },
  forbidden: {
    meaning: 'The caller is authenticated, but lacks the right to do this.',
    whatToDo: 'Ask for the scope that errors or next_actions names.',
  },
  not_found: {
    meaning: 'No live module has a route for this method and path, or the host has no such page.',
    whatToDo: 'Check the method and the exact path; paths are matched byte for byte.',
  },
  method_not_allowed: {
    meaning: 'The path belongs to the host and does not support this method.',
    whatToDo: 'Use a method that the allow header lists.',
  },
  conflict: {
    meaning: 'The request conflicts with the current state of the host.',
    whatToDo: 'Read the current state and try again.',
  },
  rate_limited: {
    meaning: 'The caller has exceeded a rate limit that the operators configured.',
    whatToDo: 'Wait for the time in retry-after.',
  },
  internal_error: {
    meaning: 'The host failed; the request may or may not have reached the provider.',
    whatToDo: 'Report the request_id to the operators of the host.',
  },
  external_dependency_failure: {
    meaning: 'The provider of the module did not respond, or its response cannot be forwarded.',
    whatToDo:
      'See failure and provider_status in errors; try again later where next_actions says so.',
  },
  provider_error: {
    meaning: 'The provider rejected the request; status and detail come from the provider.',
    whatToDo: 'Read detail and correct the request.',
  },
  unavailable: {
    meaning:
      'The host cannot handle the request now: it starts, drains or is overloaded, or a part that it needs does not respond.',
    whatToDo: 'Read detail, and try again after the time in retry-after or with a growing delay.',
  },
};

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** The page behind a Problem's `type`. It contains constant text only. */
export function renderProblemPage(code: ProblemCode): string {
  const { status, title } = PROBLEMS[code];
  const { meaning, whatToDo } = EXPLANATIONS[code];
  const statusText = code === 'provider_error' ? "the provider's" : String(status);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
<p><code>${code}</code>, status ${statusText}</p>
<p>${meaning}</p>
<p>${whatToDo}</p>
</body>
</html>
`;
}
