/** A browser without pages: it keeps cookies by host and port, and follows redirects. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** @returns the last response, and every address on the way. */
  async open(url: string, limit = 12): Promise<{ response: Response; visited: string[] }> {
    const visited = [url];
    let response = await this.send(url);
    for (let next = response.headers.get('location'); next !== null; ) {
      if (visited.length > limit) throw new Error(`too many redirects: ${visited.join(' ')}`);
      const target = new URL(next, visited.at(-1)).href;
      visited.push(target);
      response = await this.send(target);
      next = response.headers.get('location');
    }
    return { response, visited };
  }

  /** One request, without following its redirect. */
  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const cookie = [...this.jar(host)].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(host, line);
    return response;
  }

  /** The cookies of a host. */
  jar(host: string): Map<string, string> {
    const jar = this.#cookies.get(host) ?? new Map();
    this.#cookies.set(host, jar);
    return jar;
  }

  #keep(host: string, line: string): void {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === '' || /max-age=0/i.test(line)) this.jar(host).delete(name);
    else this.jar(host).set(name, value);
  }
}
