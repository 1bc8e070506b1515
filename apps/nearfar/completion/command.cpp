// nearfar completion: prints a script by which a shell completes the words of a command line.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"

namespace nearfar::command {

namespace {

// Each asks the command itself, by 'nearfar complete WORD...', so that what is completed is what this command
// has. Where that has no answer the shell completes names of files.
constexpr const char* for_bash = R"sh(# nearfar's words in bash: source <(nearfar completion bash)
_nearfar() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _nearfar nearfar nearfar-mpich
)sh";
// clang-format off: it takes zsh for C++
constexpr const char* for_zsh = R"sh(#compdef nearfar nearfar-mpich
# nearfar's words in zsh: source <(nearfar completion zsh), after compinit; or a file _nearfar in the fpath
_nearfar() {
  local -a found
  local called=${(Q)words[1]}
  found=(${(f)"$(${~called} complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"})
  if (( $#found )); then
    compadd -- $found
  else
    _files
  fi
}
if [[ $funcstack[1] == _nearfar ]]; then
  _nearfar "$@"
else
  compdef _nearfar nearfar nearfar-mpich
fi
)sh";
// clang-format on
constexpr const char* for_fish = R"sh(# nearfar's words in fish: nearfar completion fish | source
function __nearfar_words
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l found ($typed[1] complete $typed[2..] "$current" 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path "$current"
  end
end
for command in nearfar nearfar-mpich
  complete -c $command -f -a '(__nearfar_words)'
end
)sh";

}  // namespace

void add_completion(CLI::App& app, int& status) {
  const std::map<std::string, const char*> shells{{"bash", for_bash}, {"zsh", for_zsh}, {"fish", for_fish}};
  CLI::App* command = app.add_subcommand(
      "completion", "Print a shell's completion script: source <(nearfar completion bash)");
  auto shell = std::make_shared<std::string>();
  command
      ->add_option("shell", *shell, "Shell that completes subcommands, options and names: bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->callback([shells, shell, &status] {
    status = success;
    if (launch::from_environment().rank == 0) fmt::print("{}", shells.at(*shell));
  });
}

}  // namespace nearfar::command
