interface ConvertedPath {
  /** The template of the route. */
  readonly template: string;
  /** The names of the document's parameters that the template writes otherwise. */
  readonly renamed: readonly string[];
}

/**
 * Converts a path of a document to a route template: literals are decoded, and parameter names get the
 * characters that templates allow. Returns the reason as a text where no route can have the path.
 */
export function convertPath(path: string): ConvertedPath | string {
  if (path.includes('#')) return 'no request can have a # in its path';
  if (path.includes('?')) return 'a route is chosen by the path, not by the query';
  const renamed: string[] = [];
  const segments = path.split('/').map((segment) => {
    const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
    if (name === undefined) return segment.includes('{') ? segment : decode(segment);
    const usable = name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    if (usable !== name) renamed.push(name);
    return `{${usable}}`;
  });
  return { template: segments.join('/'), renamed };
}

/** Templates are compared with decoded segments. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
