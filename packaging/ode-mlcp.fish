# Completion of ode-mlcp for fish: commands, then the options that --help names.
function __ode_mlcp_commands
    ode-mlcp --help 2>/dev/null |
        string replace -rf '^  ([a-z]+)  +(.*)' '$1\t$2'
end
function __ode_mlcp_options
    set -l words (commandline -opc)
    ode-mlcp $words[2] --help 2>/dev/null |
        string replace -rf '^ +(?:-h, )?(--[a-z-]+).*' '$1'
end
set -l first 'test (count (commandline -opc)) -eq 1'
complete -c ode-mlcp -n $first -f -a '(__ode_mlcp_commands)'
complete -c ode-mlcp -n $first -f -l help -d 'how it is used'
complete -c ode-mlcp -n $first -f -l version -d 'its version'
complete -c ode-mlcp -n "not $first" -a '(__ode_mlcp_options)'
