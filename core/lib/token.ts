/** A token of HTTP (RFC 9110, 5.6.2), as a part of regular expressions. */
export const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
