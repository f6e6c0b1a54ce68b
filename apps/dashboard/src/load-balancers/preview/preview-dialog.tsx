import type { Preview } from '@spout/model'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { PreviewView } from './preview-view.tsx'

interface Props {
  readonly preview: Preview
  /** What the button says that makes the change. */
  readonly action: string
  readonly onApply: () => void
  readonly onClose: () => void
}

/** Shows what a change would do, before it is made. */
export const PreviewDialog = ({ preview, action, onApply, onClose }: Props) => (
  <Dialog title="Preview: nothing is changed yet" isOpen isWide onClose={onClose}>
    <PreviewView of={preview} />
    <DialogActions>
      <Button onPress={onClose} autoFocus>
        Back
      </Button>
      <Button variant="primary" onPress={onApply}>
        {action}
      </Button>
    </DialogActions>
  </Dialog>
)
