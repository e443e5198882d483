const VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?$/;

/** Whether the text is a version such as `0.2.0`, or `0.2.0-rc.1`. */
export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/** Negative if the first version is older; 0 for two pre-releases of one version. */
export function compareVersions(version: string, other: string): number {
  const [first, second] = [parse(version), parse(other)];
  for (let part = 0; part < first.length; part += 1) {
    const difference = (first[part] ?? 0) - (second[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A pre-release is older than its version. */
function parse(version: string): readonly number[] {
  const [, major, minor, patch, preRelease] = VERSION.exec(version) ?? [];
  return [Number(major), Number(minor), Number(patch), preRelease === undefined ? 1 : 0];
}
