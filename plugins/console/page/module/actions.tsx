import { explainDenied } from '../bridge.js';
import { query, setQuery } from '../location.js';
import { Card, Empty, State } from '../ui/parts.js';
import { ActionForm } from './action-form.js';
import type { TabProps } from './tab-props.js';

export function ActionsTab({ module, manifest }: TabProps) {
  const actions = manifest.admin?.actions ?? [];
  const chosen = query.value.get('action');
  if (actions.length === 0)
    return <Empty title="No actions">The manifest of this module declares none.</Empty>;
  return (
    <div class="grid">
      {actions.map((action) => {
        const denied = explainDenied(module, action.capability);
        const isOpen = action.name === chosen;
        return (
          <Card
            key={action.name}
            title={action.label ?? action.name}
            tools={action.danger_level && <State value={`${action.danger_level} danger`} />}
          >
            {action.description && <p class="fine">{action.description}</p>}
            {denied && <p class="fine">Not available: {denied}.</p>}
            {isOpen && !denied ? (
              <ActionForm
                module={module}
                action={action}
                onClose={() => setQuery({ action: null })}
              />
            ) : (
              <div class="row">
                <button
                  type="button"
                  disabled={denied !== null}
                  onClick={() => setQuery({ action: action.name })}
                >
                  Open
                </button>
              </div>
            )}
          </Card>
        );
      })}
    </div>
  );
}
