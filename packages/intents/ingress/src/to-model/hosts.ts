import { type Refusal, type RouteContent, routeOf, uidOf } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import type { IngressOptions } from './annotations.ts'
import { hostsOf, type Rule } from './rules.ts'

/** The field that names aliases of an Ingress. */
export const ALIAS_FIELD = `metadata.annotations[${NGINX_PREFIX}server-alias]`

type OptionsFor = (ingress: Ingress) => IngressOptions

/**
 * Decides for which hosts paths are regular expressions. As in ingress-nginx, one path with `use-regex` or
 * `rewrite-target` makes all paths of its host expressions, also those of other Ingresses.
 */
export function hasRegexOf(ingresses: readonly Ingress[], optionsFor: OptionsFor): (host: string) => boolean {
  const hosts = new Set(
    ingresses.flatMap((ingress) => {
      return optionsFor(ingress).paths.useRegex ? hostsOf(ingress) : []
    }),
  )
  return (host) => hosts.has(host)
}

/** Repeats the rules of an Ingress's first host for its aliases. A name that already has rules cannot be an alias. */
export function aliasRules(
  rules: readonly Rule[],
  optionsFor: OptionsFor,
  tell: (ingress: Ingress, refusal: Refusal) => void,
): readonly Rule[] {
  const taken = new Set(rules.map(({ host }) => host))
  const first = new Map<Ingress, string>()
  for (const { ingress, host } of rules) if (host !== '' && !first.has(ingress)) first.set(ingress, host)
  const made: Rule[] = []
  for (const [ingress, host] of first)
    for (const [at, alias] of optionsFor(ingress).paths.aliases.entries()) {
      if (alias === host) continue
      if (taken.has(alias)) {
        const message = `not taken: ${alias} has rules, or is a further name, of another Ingress.`
        tell(ingress, { reason: 'AnnotationNotTaken', field: ALIAS_FIELD, message })
        continue
      }
      taken.add(alias)
      for (const rule of rules)
        if (rule.ingress === ingress && rule.host === host)
          made.push({ ...rule, host: alias, field: `${rule.field} alias ${at}` })
    }
  return made
}

/** Redirects to each host from the same name with or without `www.`, unless that name has rules of its own. */
export function wwwRoutes(
  rules: readonly Rule[],
  optionsFor: OptionsFor,
): { readonly rule: Rule; readonly route: RouteContent }[] {
  const taken = new Set(rules.map(({ host }) => host))
  return rules.flatMap((rule) => {
    const { ingress, host, field } = rule
    if (!optionsFor(ingress).redirects.www || host === '' || host.startsWith('*.')) return []
    const other = host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`
    if (taken.has(other)) return []
    taken.add(other)
    const route = routeOf(
      {
        name: `${uidOf(ingress)}/www/${field}`,
        conditions: [{ on: 'host', compare: 'exact', values: [other] }],
        action: { type: 'redirect', code: 308, host },
      },
      field,
    )
    // An invalid host is reported at its own rule.
    return 'refusal' in route ? [] : [{ rule, route: route.value }]
  })
}
