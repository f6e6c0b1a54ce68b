import { type Refusal, shown } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import type { ExternalAuth } from '../ingress-nginx/external-auth.ts'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import type { IngressOptions } from './annotations.ts'
import { literalBegin } from './regexes.ts'
import type { Rule } from './rules.ts'

const AUTH_URL_FIELD = `metadata.annotations[${NGINX_PREFIX}auth-url]`

/**
 * Finds the rule that serves the URL of an authorizer that is named by its host. It finds
 * none unless it is certain, because the wrong Service might admit everybody.
 * @param rules in the order in which they are tried
 * @returns a refusal when no rule is found
 */
export function ruleOfAuthorizer(
  rule: Rule,
  { asks, path }: ExternalAuth,
  rules: readonly Rule[],
  optionsFor: (ingress: Ingress) => IngressOptions,
): Rule | Refusal {
  const host = ('host' in asks ? asks.host : null) ?? rule.host
  const [asked = '/'] = path.split('?')
  const refused = (why: string): Refusal => ({
    reason: 'AnnotationRefused',
    field: AUTH_URL_FIELD,
    message: `not taken: ${why}; paths of ${shown(host === '' ? 'all hosts' : rule.host)} are answered with 503.`,
  })
  const found = rules.find((one) => one.host === host && one.match !== 'default' && canTake(one, asked))
  // A catch-all rule of the same host does not count: it would probably answer 200 to everything.
  if (found === undefined || (found.host === rule.host && found.path === ''))
    return refused(`no Ingress of this namespace has a rule for ${shown(`${host}${asked}`)}`)
  if (found.match === 'regex' && literalBegin(found.path) !== found.path)
    return refused(`an expression, ${shown(found.path)}, takes its path`)
  const { auth, basic, isRefused, access, clients, redirects, paths } = optionsFor(found.ingress)
  if (
    auth !== null ||
    basic !== null ||
    isRefused ||
    clients !== null ||
    access.allow !== null ||
    access.deny.length > 0
  )
    return refused('its path is protected itself')
  if (redirects.all !== null || paths.rewriteTarget !== null)
    return refused('requests for its path are redirected or rewritten')
  return found
}

/** Whether a rule may match a path. An expression may match when its literal start does. */
function canTake({ match, path }: Rule, asked: string): boolean {
  if (match === 'exact') return asked === path
  if (match === 'regex') return asked.toLowerCase().startsWith(literalBegin(path).toLowerCase())
  return path === '' || asked === path || asked.startsWith(`${path}/`)
}
