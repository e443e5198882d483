import { PROBLEMS, type ProblemCode } from '../../errors.js';

interface Explanation {
  readonly meaning: string;
  readonly whatToDo: string;
}

const EXPLANATIONS: Readonly<Record<ProblemCode, Explanation>> = {
  validation_failed: {
    meaning: 'The request is not one that the host accepts; errors names each part that is wrong.',
    whatToDo: 'Mend what errors names and send the request again.',
  },
  unauthorized: {
    meaning: 'The request carries no credentials, or none that this host knows.',
    whatToDo: 'Send one authorization header with a valid bearer token.',
  },
  forbidden: {
    meaning: 'The host knows who calls, and that caller may not do this.',
    whatToDo: 'Ask for the scope that errors or next_actions names.',
  },
  not_found: {
    meaning: 'No live module has a route for this method and path, or the host has no such page.',
    whatToDo: 'Check the method and the exact path; paths are matched byte for byte.',
  },
  method_not_allowed: {
    meaning: 'The path is one of the host, which does not take this method.',
    whatToDo: 'Use a method that the allow header lists.',
  },
  conflict: {
    meaning: 'The request does not fit the state that the host is in.',
    whatToDo: 'Read the current state and decide again.',
  },
  rate_limited: {
    meaning: 'The caller has used up a limit that the operators configured.',
    whatToDo: 'Wait for as long as retry-after says.',
  },
  internal_error: {
    meaning: 'The host failed; the request may or may not have reached the provider.',
    whatToDo: 'Report the request_id to the operators of the host.',
  },
  external_dependency_failure: {
    meaning:
      'The provider behind the module did not answer, or not in a way that can be forwarded.',
    whatToDo: 'Look at failure and provider_status in errors; try again later where it says so.',
  },
  provider_error: {
    meaning: 'The provider refused the request; status and detail are its own.',
    whatToDo: 'Read detail, and mend the request.',
  },
  unavailable: {
    meaning: 'The host is starting or draining, or its store does not answer.',
    whatToDo: 'Try again in a moment.',
  },
};

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** The page behind a Problem's `type`. All its text is from the tables of this host. */
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
