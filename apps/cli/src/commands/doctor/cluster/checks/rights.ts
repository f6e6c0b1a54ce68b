import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import type { Right } from '../place.ts'
import { type MissingRights, readRights } from '../readings/rights.ts'

const FINDINGS = {
  RightMissing: {
    level: 'error',
    what: 'the account of a program may not do what the program does',
    why: 'It waits for it, and its log says so. Bindings name a namespace: one that was renamed, or applied in part, gives nothing.',
    fix: '`kubectl apply` of the whole `spout.yaml`, or `helm upgrade`: `kubectl auth can-i` shows each right',
  },
} as const satisfies Catalogue

export const judgeRights = (accounts: readonly MissingRights[]): readonly Found<keyof typeof FINDINGS>[] =>
  accounts
    .filter(({ missing }) => missing.length > 0)
    .map(({ account, missing }) => {
      const [first] = missing as [Right]
      const more = missing.length === 1 ? '' : `, nor ${missing.length - 1} more`
      return {
        ...{ code: 'RightMissing', subject: account },
        message: `It may not ${first.verb} ${first.resource}${first.group === '' ? '' : ` of ${first.group}`}${more}.`,
        fix: `apply spout.yaml again, or helm upgrade; then: kubectl auth can-i ${wordsOf(first)} --as system:serviceaccount:${account.replace('/', ':')}`,
      }
    })

function wordsOf({ group, resource, verb, namespace, name }: Right): string {
  const [kind, subresource] = resource.split('/')
  return [
    `${verb} ${kind}${group === '' ? '' : `.${group}`}${name === undefined ? '' : `/${name}`}`,
    ...(subresource === undefined ? [] : [`--subresource ${subresource}`]),
    namespace === undefined ? '--all-namespaces' : `--namespace ${namespace}`,
  ].join(' ')
}

export const rights = clusterCheckOf({
  name: 'rights',
  catalogue: FINDINGS,
  read: readRights,
  judge: judgeRights,
  right: (accounts) =>
    accounts.length === 0
      ? 'No program of ours runs here.'
      : `${accounts.map(({ account }) => account).join(', ')} may do what they do.`,
})
