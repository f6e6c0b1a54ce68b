import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { Name } from './name.tsx'
import { ProblemBox } from './problem-box.tsx'

interface Props {
  readonly name: string
  /** Shown where the name is empty. */
  readonly id: string
  /** What the API is asked, as TanStack Query has it. Null: it cannot be deleted, and the children say why. */
  readonly deletion: { readonly error: Error | null; readonly isPending: boolean; mutate(): void } | null
  readonly onClose: () => void
  /** What goes with it. */
  readonly children: ReactNode
}

/** Asks before something is deleted. The safe answer has the focus. */
export const DeletionDialog = ({ name, id, deletion, onClose, children }: Props) => (
  <Dialog
    title={
      <>
        Delete <Name of={name} or={id} />?
      </>
    }
    isOpen
    isAlert
    onClose={onClose}
  >
    {children}
    {deletion?.error && <ProblemBox error={deletion.error} />}
    <DialogActions>
      <Button onPress={onClose} autoFocus>
        Keep it
      </Button>
      {deletion !== null && (
        <Button variant="danger" onPress={() => deletion.mutate()} isPending={deletion.isPending}>
          Delete
        </Button>
      )}
    </DialogActions>
  </Dialog>
)
