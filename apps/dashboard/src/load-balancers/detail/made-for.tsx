import type { ClusterObject } from '@spout/model'
import { CopyButton } from '../../parts/copy-button.tsx'
import { OWNER_WORDS } from '../table/owner-words.ts'
import { kubectlCommand } from '../text/kubectl-command.ts'
import styles from './made-for.module.css'

/** So many are named. Hundreds of Ingresses may share a load balancer. */
const MOST_NAMED = 3

/** The Kubernetes objects that a load balancer was made for: there it is changed. */
export function MadeFor({ objects }: { readonly objects: readonly ClusterObject[] }) {
  const [first] = objects
  if (first === undefined) return null
  const more = objects.length - MOST_NAMED
  const kubectl = kubectlCommand(first)
  return (
    <p className={styles.madeFor}>
      <span>
        Made for{' '}
        {objects.slice(0, MOST_NAMED).map(({ kind, name }, at) => (
          <span key={`${kind} ${name}`}>
            {at > 0 && ', '}
            {OWNER_WORDS[kind]} <bdi className={styles.name}>{name}</bdi>
          </span>
        ))}
        {more > 0 && ` and ${more} more`}
        {first.cluster !== null && (
          <>
            {' '}
            in cluster <bdi className={styles.name}>{first.cluster}</bdi>
          </>
        )}
        , which decides what it is.
      </span>
      {kubectl !== null && <CopyButton text={kubectl} what="kubectl command" />}
    </p>
  )
}
