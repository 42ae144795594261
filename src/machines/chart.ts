/** Draws a machine as a mermaid state diagram, from its definition; the present state is filled. */
import type { AnyStateMachine, StateValue } from 'xstate';
import { type ChartState, chartEdges, chartStates, initialOf, presentPath } from './chart-edges.js';

export function mermaid(machine: AnyStateMachine, present?: StateValue): string {
  const states = chartStates(machine);
  const lines = [
    'stateDiagram-v2',
    `  [*] --> ${id(initialOf(machine.root))}`,
    ...states.flatMap((state) => declaration(state, '  ')),
    ...chartEdges(machine).map(
      ({ source, target, labels }) => `  ${id(source)} --> ${id(target)} : ${labels.join('<br/>')}`,
    ),
    ...states.filter((state) => state.final).map((state) => `  ${id(state.path)} --> [*]`),
  ];
  if (present !== undefined) {
    lines.push('  classDef present fill:#1f6feb,color:#ffffff,stroke:#0b3d91');
    lines.push(`  class ${id(presentPath(present))} present`);
  }
  return `${lines.join('\n')}\n`;
}

function declaration(state: ChartState, indent: string): string[] {
  const title = `${indent}state "${state.name}" as ${id(state.path)}`;
  if (state.initial === undefined) return [title];
  return [
    `${title} {`,
    `${indent}  [*] --> ${id(state.initial)}`,
    ...state.children.flatMap((child) => declaration(child, `${indent}  `)),
    `${indent}}`,
  ];
}

/** A dot has a meaning in mermaid. */
function id(path: string): string {
  return path.replaceAll('.', '_');
}
