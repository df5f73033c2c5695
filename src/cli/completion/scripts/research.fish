# fish completion of research.
# Written by `research completion`; it is replaced when that is run again.
function __research_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command research __complete fish $before[2..-1] "$current" 2>/dev/null </dev/null)
    set -l lead (string match -r -- '^--[^=]+=' "$current")
    set -l rest (string replace -r -- '^--[^=]+=' '' "$current")
    switch "$lines[1]"
        case :files
            for path in (__fish_complete_path "$rest")
                echo "$lead$path"
            end
        case :folders
            for path in (__fish_complete_directories "$rest")
                echo "$lead$path"
            end
        case '?*'
            printf '%s\n' $lines
    end
end
complete -c research -e
complete -c research -k -f -a '(__research_complete)'
