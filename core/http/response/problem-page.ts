import { PROBLEMS, type ProblemCode } from '../../errors.js';

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** The page behind a Problem's `type`. It contains constant text only. */
export function renderProblemPage(code: ProblemCode): string {
  const { status, title, meaning, whatToDo } = PROBLEMS[code];
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
