import type { Node } from '@spout/model'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type ShownNode, setScheduling } from '../api/nodes.ts'
import { keys } from '../api/query-keys.ts'
import { useAnnounce } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActions } from '../parts/dialog.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { DrainPreview } from './drain-preview.tsx'
import { DRAINED, drainProgress } from './drain-progress.ts'
import styles from './nodes-page.module.css'

/** Drains a node, after a question, and takes it into use again. Meanwhile it says how far the drain is. */
export function SchedulingButton({ node }: { readonly node: ShownNode }) {
  const { id, name, scheduling } = node
  const [isAsking, setAsking] = useState(false)
  const client = useQueryClient()
  const announce = useAnnounce()
  const change = useMutation({
    mutationFn: (next: Node['scheduling']) => setScheduling(id, next),
    onSuccess: (_, next) => {
      setAsking(false)
      announce(next === 'draining' ? `${name} is being drained.` : `${name} is in use again.`)
      return client.invalidateQueries({ queryKey: keys.of('node') })
    },
  })
  const progress = drainProgress(node)
  return (
    <div className={styles.use}>
      {scheduling === 'enabled' ? (
        <Button onPress={() => setAsking(true)} aria-label={`Drain ${name}`}>
          Drain
        </Button>
      ) : (
        <Button onPress={() => change.mutate('enabled')} isPending={change.isPending} aria-label={`Undrain ${name}`}>
          Undrain
        </Button>
      )}
      {progress !== null && progress !== DRAINED && <span className={styles.soft}>{progress}</span>}
      {change.error !== null && !isAsking && <ProblemBox error={change.error} />}
      <Dialog title={`Drain ${name}?`} isOpen={isAsking} onClose={() => setAsking(false)} isAlert>
        <p>
          It hands over what it announces to the other nodes of its group, and gets nothing new. Drain one node of a
          group at a time.
        </p>
        <DrainPreview id={id} />
        {change.error !== null && <ProblemBox error={change.error} />}
        <DialogActions>
          <Button onPress={() => setAsking(false)}>Cancel</Button>
          <Button variant="danger" onPress={() => change.mutate('draining')} isPending={change.isPending}>
            Drain
          </Button>
        </DialogActions>
      </Dialog>
    </div>
  )
}
